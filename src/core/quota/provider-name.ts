import { providerName, type ProviderName } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'

/** Names stand in paths and in reasons: letters, digits and a few signs that mean nothing there. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u

/** Reads the name of a provider. */
export function parseProviderName(field: string, value: unknown): Parsed<ProviderName> {
  return typeof value === 'string' && NAME.test(value)
    ? parsed(providerName(value))
    : flawed({ field, value, message: 'cannot be a name', allowed: '1 to 100 letters, digits, . _ -' })
}
