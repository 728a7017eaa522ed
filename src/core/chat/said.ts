/** What somebody says to a model. */
export interface Said {
  readonly text: string
  /** What goes with it in the words of the protocol: pictures, sound, files. */
  readonly parts: readonly unknown[]
}

type Fields = Readonly<Partial<Record<string, unknown>>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Parts of a message that the protocol knows. */
const PART_TYPES: readonly unknown[] = ['image_url', 'input_audio', 'file']
const isPart = (value: unknown): boolean => isObject(value) && PART_TYPES.includes(value['type'])

/**
 * What a payload says: the text of a message with its attachments; the prompt of a schedule with its context and what is
 * wanted of the answer; anything else as JSON.
 */
export function saidIn(payload: unknown): Said {
  if (!isObject(payload)) return { text: payload === null || payload === undefined ? '' : written(payload), parts: [] }
  const { text, prompt, context = null, output = null, attachments } = payload
  if (typeof prompt === 'string') {
    const lines = [
      prompt,
      ...(context === null ? [] : [`Context:\n${written(context)}`]),
      ...(output === null ? [] : [`Output:\n${written(output)}`]),
    ]
    return { text: lines.join('\n\n'), parts: [] }
  }
  if (typeof text !== 'string') return { text: JSON.stringify(payload), parts: [] }
  const all: readonly unknown[] = Array.isArray(attachments) ? attachments : []
  // What the protocol has no part for is told in words: the model should at least know of it.
  const told = all.filter((one) => !isPart(one)).map((one) => `[attachment] ${written(one)}`)
  return { text: [...(text === '' ? [] : [text]), ...told].join('\n'), parts: all.filter(isPart) }
}

/** What an answer says: a text as it is, anything else as JSON, nothing as nothing. */
export const replyIn = (reply: unknown): string => (reply === null || reply === undefined ? '' : written(reply))
