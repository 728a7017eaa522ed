import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { chromium as driver, type Browser } from 'playwright-core'
import { ROOT } from '../tooling/root.ts'

const { chromiumPath, CHROMIUM_ARGS } = (await import(pathToFileURL(path.join(ROOT, 'scripts/chromium.mjs')).href)) as {
  readonly chromiumPath: () => Promise<string>
  readonly CHROMIUM_ARGS: string[]
}

/** True where the Chromium that comes with npm runs. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64'

/** The package unpacks the program beside other temporary files; whoever comes while another still writes it, waits. */
const MOST_TRIES = 20
const PAUSE_MS = 500

/** Starts a real Chromium that talks to nobody but the pages it is shown. */
export async function openBrowser(tries = MOST_TRIES): Promise<Browser> {
  const executablePath = await chromiumPath()
  try {
    return await driver.launch({ executablePath, args: CHROMIUM_ARGS, headless: true })
  } catch (error) {
    if (tries <= 1 || !String(error).includes('ETXTBSY')) throw error
    await setTimeout(PAUSE_MS)
    return openBrowser(tries - 1)
  }
}
