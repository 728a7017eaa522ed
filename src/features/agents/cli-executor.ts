import { json, type OptionReader } from '../../cli/remote/fields.ts'

/** Reads a URL as an http executor, and any other plain word as its kind. */
const readExecutor: OptionReader = (text, about) => {
  if (text.trimStart().startsWith('{')) return json(text, about)
  return /^https?:/i.test(text.trim()) ? { kind: 'http', url: text.trim() } : { kind: text }
}

export const EXECUTOR = {
  flags: '--executor <kind|url|json>',
  read: readExecutor,
  hint: 'a kind such as echo, a URL, or JSON',
} as const
