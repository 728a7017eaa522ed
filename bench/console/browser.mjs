import { chromium as driver } from 'playwright-core'
import { CHROMIUM_ARGS, chromiumPath } from '../../scripts/chromium.mjs'

/** Starts the Chromium from npm. */
export const openBrowser = async () =>
  driver.launch({ executablePath: await chromiumPath(), headless: true, args: CHROMIUM_ARGS })
