"""Hostile inputs for all that reads what users bring: files of data, files of models, and costs.

``python -m fuzz`` gives each target 100,000 inputs, ``python -m fuzz arff --runs 5000`` gives one of them
fewer, and ``python -m fuzz arff fuzz/found/crash-...`` repeats an input that was found. A target is a module
with four names (see :class:`fuzz.target.Target`); its ``check`` raises on what users must never see.
"""
