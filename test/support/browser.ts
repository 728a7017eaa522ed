import { setTimeout } from 'node:timers/promises'
import chromium from '@sparticuz/chromium'
import { chromium as driver, type Browser } from 'playwright-core'

/** True where the Chromium that comes with npm runs. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64'

const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync']

/** Drawn without a graphics card that only pretends to be one: that takes several times as long. */
const DRAWN_PLAINLY = ['--disable-gpu', '--disable-gpu-compositing']

/** What the package asks for and a test must not have: in one process a browser ends with the first window that closes. */
const UNWANTED = new Set([
  ...['--single-process', '--disable-web-security', '--allow-running-insecure-content'],
  ...['--ignore-gpu-blocklist', '--in-process-gpu', '--use-gl=angle', '--use-angle=swiftshader'],
])

/** The package unpacks the program beside other temporary files; whoever comes while another still writes it, waits. */
const MOST_TRIES = 20
const PAUSE_MS = 500

/** Starts a real Chromium that talks to nobody but the pages it is shown. */
export async function openBrowser(tries = MOST_TRIES): Promise<Browser> {
  const executablePath = await chromium.executablePath()
  try {
    return await driver.launch({
      executablePath,
      args: [...chromium.args.filter((arg) => !UNWANTED.has(arg)), ...QUIET, ...DRAWN_PLAINLY],
      headless: true,
    })
  } catch (error) {
    if (tries <= 1 || !String(error).includes('ETXTBSY')) throw error
    await setTimeout(PAUSE_MS)
    return openBrowser(tries - 1)
  }
}
