import { json, type ReadText } from '../remote/fields.ts'

/** Most executors are an address, and nobody should have to write JSON for that. */
export const readExecutor: ReadText = (text, about) => {
  if (text.trimStart().startsWith('{')) return json(text, about)
  return /^https?:/i.test(text.trim()) ? { kind: 'http', url: text.trim() } : { kind: text }
}
