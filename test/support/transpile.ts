import { transformSync } from 'rolldown/utils'
import { transpile as transpileBy } from '../../scripts/bootstrap/transpile.mjs'

/** A source without its types, for child processes, as `npm start` runs it. */
export const transpile = (file: string, text: string): string => transpileBy(transformSync, file, text)
