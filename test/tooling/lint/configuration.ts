import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../root.ts'

type Rules = Readonly<Record<string, unknown>>

interface Configuration {
  readonly rules: Rules
  readonly overrides: readonly { readonly files: readonly string[]; readonly rules: Rules }[]
}

/** What the linter is configured with. */
export const { default: CONFIGURATION } = (await import(pathToFileURL(path.join(ROOT, 'oxlint.config.js')).href)) as {
  readonly default: Configuration
}
