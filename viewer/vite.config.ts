import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const MARKER = "<!--hyperatom:data-->";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

/// One HTML file: script and style inlined, and a policy that lets exactly those two run and forbids any network.
function singleFile(): Plugin {
  return {
    name: "hyperatom-single-file",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "";
      let style = "";
      let page = "";
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") script += item.code;
        else if (name.endsWith(".css")) style += item.source;
        else if (name === "index.html") page = String(item.source);
        delete bundle[name];
      }
      // Text inside a script element ends at </script, and <!-- changes how the rest is read.
      if (/<\/script|<!--/i.test(script)) this.error("the script cannot be inlined: it holds </script or <!--");
      if (/<\/style/i.test(style)) this.error("the style cannot be inlined: it holds </style");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      page = page
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace(
          /(<meta charset="utf-8" \/>)/,
          (tag) => `${tag}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
        )
        .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
        .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`);
      if (page.split(MARKER).length !== 2) this.error(`the page must hold ${MARKER} exactly once`);
      if (/ src=| href="(?!data:)/.test(page.replace(script, "").replace(style, "")))
        this.error("the page refers to another file");
      this.emitFile({ type: "asset", fileName: "index.html", source: page });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [singleFile()],
  build: { target: "es2022", modulePreload: false, cssCodeSplit: false, assetsInlineLimit: 1 << 24 },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
