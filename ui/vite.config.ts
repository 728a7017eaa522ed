import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const SERVER = 'http://127.0.0.1:7420'

/** What belongs to the server while Vite serves the sources of the console. */
const PROXIED = ['/api', '/docs', '/openapi.json', '/schema', '/health', '/ready']

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/ui', import.meta.url)),
    emptyOutDir: true,
    // Which chunks a page loads first; a test adds them up.
    manifest: true,
    // Everything is a file of its own: the policy of the pages lets in nothing that is written into them.
    assetsInlineLimit: 0,
    target: 'es2022',
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    port: 7421,
    proxy: Object.fromEntries(
      PROXIED.map((path) => [path, { target: SERVER, changeOrigin: true, headers: { origin: SERVER } }]),
    ),
  },
})
