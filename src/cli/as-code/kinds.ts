import { AS_CODE_KINDS, type AsCodeKind } from '../../core/as-code/kinds.ts'
import { UsageError } from '../remote/usage.ts'

/** The kinds of `--kinds`, with commas between them; null: nobody has chosen. */
export function kindsIn(text: string | undefined): readonly AsCodeKind[] | null {
  if (text === undefined) return null
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const unknown = words.find((word) => !AS_CODE_KINDS.some((kind) => kind === word))
  if (unknown !== undefined || words.length === 0)
    throw new UsageError(`--kinds "${unknown ?? text}" is not understood. Allowed: ${AS_CODE_KINDS.join(', ')}`)
  return AS_CODE_KINDS.filter((kind) => words.includes(kind))
}
