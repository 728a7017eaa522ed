import { json, type ReadText } from '../../cli/remote/fields.ts'

/** Most executors are an address, which needs no JSON. */
const readExecutor: ReadText = (text, about) => {
  if (text.trimStart().startsWith('{')) return json(text, about)
  return /^https?:/i.test(text.trim()) ? { kind: 'http', url: text.trim() } : { kind: text }
}

export const EXECUTOR = {
  flags: '--executor <kind|url|json>',
  read: readExecutor,
  hint: 'as a kind such as echo, a URL, or JSON',
} as const
