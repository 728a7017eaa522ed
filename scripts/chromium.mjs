// Locates the Chromium from npm. Its package unpacks it into the temporary directory, where it belongs to the first user and
// others can't start it, so each user gets a separate copy.
import chromium from '@sparticuz/chromium'
import { mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'

/** Returns the path of Chromium, and unpacks it if necessary. */
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

/** Unwanted default arguments: a single-process browser, for example, ends with the first window that closes. */
const UNWANTED = new Set([
  ...['--single-process', '--disable-web-security', '--allow-running-insecure-content'],
  ...['--ignore-gpu-blocklist', '--in-process-gpu', '--use-gl=angle', '--use-angle=swiftshader'],
])

/** Disables background network requests and the emulated GPU. */
export const CHROMIUM_ARGS = [
  ...chromium.args.filter((arg) => !UNWANTED.has(arg)),
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--disable-gpu', '--disable-gpu-compositing'],
]
