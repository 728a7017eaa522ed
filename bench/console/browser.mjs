import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'

/** What the package asks for and a measurement must not have: in one process a page waits for its own browser. */
const UNWANTED = new Set(['--single-process', '--disable-web-security', '--allow-running-insecure-content'])

/** Starts the Chromium that comes with npm. */
export const openBrowser = async () =>
  driver.launch({
    ...{ executablePath: await chromium.executablePath(), headless: true },
    args: [...chromium.args.filter((arg) => !UNWANTED.has(arg)), '--no-sandbox', '--disable-background-networking'],
  })
