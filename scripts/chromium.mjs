// Where the Chromium that comes with npm is. Its package unpacks it into the folder of temporary files, where it belongs to
// whoever came first and nobody else can start it: each user has one of their own.
import chromium from '@sparticuz/chromium'
import { mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'

/** Unpacks it if need be. */
export async function chromiumPath() {
  const before = process.env.TMPDIR
  const own = path.join(tmpdir(), `escapement-chromium-${userInfo().uid}`)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  process.env.TMPDIR = own
  try {
    return await chromium.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/** What the package asks for and nobody here wants: in one process a browser ends with the first window that closes. */
const UNWANTED = new Set([
  ...['--single-process', '--disable-web-security', '--allow-running-insecure-content'],
  ...['--ignore-gpu-blocklist', '--in-process-gpu', '--use-gl=angle', '--use-angle=swiftshader'],
])

/** Talks to nobody but the pages it is shown, and draws without a graphics card that only pretends to be one. */
export const CHROMIUM_ARGS = [
  ...chromium.args.filter((arg) => !UNWANTED.has(arg)),
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--disable-gpu', '--disable-gpu-compositing'],
]
