/* Browsers start no workers for pages that are files. There the search runs in a hidden frame instead. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      this.waiting = []
      addEventListener("message", event => {
        if (event.source === frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      frame.addEventListener("load", () => {
        this.frame = frame
        for (const message of this.waiting) this.postMessage(message)
      })
      const source = new URL(url, location.href).href.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
      frame.srcdoc = `<script>postMessage = message => parent.postMessage(message, "*")<\/script>
        <script src="${source}"><\/script>`
      document.documentElement.append(frame)
    }
    postMessage(message) {
      if (this.frame) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: message }))
      else this.waiting.push(message)
    }
    terminate() {
      this.frame?.remove()
    }
  }
