import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'

/** What the package asks for and a measurement must not have: in one process a page waits for its own browser. */
const UNWANTED = new Set([
  ...['--single-process', '--disable-web-security', '--allow-running-insecure-content'],
  ...['--ignore-gpu-blocklist', '--in-process-gpu', '--use-gl=angle', '--use-angle=swiftshader'],
])

/** Drawn without a graphics card that only pretends to be one. */
const DRAWN_PLAINLY = ['--disable-gpu', '--disable-gpu-compositing']

/** Starts the Chromium that comes with npm. */
export const openBrowser = async () =>
  driver.launch({
    ...{ executablePath: await chromium.executablePath(), headless: true },
    args: [
      ...chromium.args.filter((arg) => !UNWANTED.has(arg)),
      '--no-sandbox',
      '--disable-background-networking',
      ...DRAWN_PLAINLY,
    ],
  })
