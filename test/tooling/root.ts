import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The top of the checkout. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
