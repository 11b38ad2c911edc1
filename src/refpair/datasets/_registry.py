"""Where the data sets of the paper lie in Mulan's repository, and what they must be."""

from __future__ import annotations

from dataclasses import dataclass

COMMIT = "43f6389095ad71984264db4387a8074b22bc7d4a"
URL = f"https://raw.githubusercontent.com/tsoumakas/mulan/{COMMIT}/data/multi-label"


@dataclass(frozen=True)
class Source:
    """The size of a data set and its two files: paths below ``URL`` and checksums."""

    n_labels: int
    n_instances: int
    n_features: int
    arff: str
    arff_sha256: str
    xml: str
    xml_sha256: str


# In the order of the paper's table. Corel5k is taken in its sparse form, a fraction of the size.
REGISTRY: dict[str, Source] = {
    "Corel5k": Source(
        n_labels=374,
        n_instances=5000,
        n_features=499,
        arff="corel5k/Corel5k-sparse.arff",
        arff_sha256="12c06161d2367f919f6da912089a6c9180c115cfcefa37afacfdeb903930eb7e",
        xml="corel5k/Corel5k.xml",
        xml_sha256="54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
    ),
    "CAL500": Source(
        n_labels=174,
        n_instances=502,
        n_features=68,
        arff="cal500/cal500.arff",
        arff_sha256="cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
        xml="cal500/cal500.xml",
        xml_sha256="877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
    ),
    "bibtex": Source(
        n_labels=159,
        n_instances=7395,
        n_features=1836,
        arff="bibtex/bibtex.arff",
        arff_sha256="a282a6d1fb3cdaf39bde3f81cd4e6079850a7a538a6bc44f8b4ed95dfe1e5014",
        xml="bibtex/bibtex.xml",
        xml_sha256="08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
    ),
    "enron": Source(
        n_labels=53,
        n_instances=1702,
        n_features=1001,
        arff="enron/enron.arff",
        arff_sha256="d0889ef0576d4e7b5ec0df3b3e4760e476ac11a6e7d7ddeee4c4a34470dedf97",
        xml="enron/enron.xml",
        xml_sha256="ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
    ),
    "medical": Source(
        n_labels=45,
        n_instances=978,
        n_features=1449,
        arff="medical/medical.arff",
        arff_sha256="ad0630a9a409ed0023c3bb56a0be7610b635c1ca185c6035e3b198b01167aac4",
        xml="medical/medical.xml",
        xml_sha256="51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
    ),
    "genbase": Source(
        n_labels=27,
        n_instances=662,
        n_features=1186,
        arff="genbase/genbase.arff",
        arff_sha256="cb23052a49191e36e9a59cd661e97d79bed2e3f2583030a206692b57bf1e3671",
        xml="genbase/genbase.xml",
        xml_sha256="198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
    ),
    "yeast": Source(
        n_labels=14,
        n_instances=2417,
        n_features=103,
        arff="yeast/yeast.arff",
        arff_sha256="55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
        xml="yeast/yeast.xml",
        xml_sha256="c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
    ),
    "flags": Source(
        n_labels=7,
        n_instances=194,
        n_features=19,
        arff="flags/flags.arff",
        arff_sha256="d3ed8b5683f1b27e68069aad2c29388bb57d4caa5041b559e646cc3854a0cd1e",
        xml="flags/flags.xml",
        xml_sha256="7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
    ),
    "scene": Source(
        n_labels=6,
        n_instances=2407,
        n_features=294,
        arff="scene/scene.arff",
        arff_sha256="5905548975b69b639ab31a295f7bf1ab7379a3f016450012722d28f660f4b143",
        xml="scene/scene.xml",
        xml_sha256="55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
    ),
    "emotions": Source(
        n_labels=6,
        n_instances=593,
        n_features=72,
        arff="emotions/emotions.arff",
        arff_sha256="6f2f790047073d1293ac0872c0d55f2dc98b6177802fc96c6b66b309dfee1e4b",
        xml="emotions/emotions.xml",
        xml_sha256="dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
    ),
}
