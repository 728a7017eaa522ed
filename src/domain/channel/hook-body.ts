import { isDeeperThan, MAX_DEPTH } from '../json.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import type { ReceivedChannelMessage } from './channel.ts'

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const PATH = /^body(?:\.[^.\s]+)+$/

/** The flaw of a hook template; null when it is valid. */
export function templateFlaw(text: string): string | null {
  for (const found of text.matchAll(PLACEHOLDER)) {
    const name = (found[1] ?? '').trim()
    if (!PATH.test(name)) return `has an unknown placeholder: {{${name}}}`
  }
  return null
}

type Fields = Readonly<Record<string, unknown>>

/** Fills a template from the body of a request. Missing and non-scalar values are flaws. */
function fillHookTemplate(field: string, template: string, body: Fields): Parsed<string> {
  const flaws: Flaw[] = []
  const text = template.replaceAll(PLACEHOLDER, (_, name: string) => {
    const path = name.trim().split('.').slice(1)
    const value = path.reduce<unknown>(stepInto, body)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
    if (field === 'text' && value !== undefined && value !== null) return JSON.stringify(value)
    flaws.push({ field: path.join('.'), value, message: `is missing; the template of the hook's ${field} uses it` })
    return ''
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(text)
}

const stepInto = (value: unknown, step: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Fields)[step] : undefined

/** Longer bodies are not indented, because the whitespace could exceed the body many times. */
const MAX_INDENTED_LENGTH = 10_000

function bodyAsText(body: Fields): string {
  const text = JSON.stringify(body)
  return text.length > MAX_INDENTED_LENGTH ? text : JSON.stringify(body, null, 2)
}

const MAX_PEER_LENGTH = 300
const MAX_MESSAGE_ID_LENGTH = 512

/** The message id in the body, if it has a valid one. */
function messageIdIn({ message_id: id }: Fields): string | null {
  const isOne = typeof id === 'string' && id !== '' && id.length <= MAX_MESSAGE_ID_LENGTH && !id.includes('\u0000')
  return isOne ? id : null
}

/**
 * Converts a request to a hook into a message. Without a template the text is the field `text` of the body, or the
 * whole body if it has none.
 */
export function readHookBody(
  body: unknown,
  of: { readonly id: string; readonly session: string; readonly text: string | null },
): Parsed<ReceivedChannelMessage> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return flawed({ field: '', value: undefined, message: 'the body must be an object', allowed: 'a JSON object' })
  if (isDeeperThan(body, MAX_DEPTH))
    return flawed({
      field: '',
      value: undefined,
      message: 'the body is nested too deeply',
      allowed: `${MAX_DEPTH} levels`,
    })
  const fields = body as Fields
  const defaultText = typeof fields['text'] === 'string' ? fields['text'] : bodyAsText(fields)
  const text = of.text === null ? parsed(defaultText) : fillHookTemplate('text', of.text, fields)
  const peer = fillHookTemplate('session', of.session, fields)
  const flaws = [...(text.ok ? [] : text.flaws), ...(peer.ok ? [] : peer.flaws)]
  if (peer.ok && (peer.value.trim() === '' || peer.value.length > MAX_PEER_LENGTH || peer.value.includes('\u0000')))
    flaws.push({ field: 'session', value: undefined, message: `is empty or longer than ${MAX_PEER_LENGTH} characters` })
  if (text.ok && text.value.trim() === '') flaws.push({ field: 'text', value: undefined, message: 'is empty' })
  if (flaws.length > 0 || !text.ok || !peer.ok) return flawed(flaws)
  return parsed({
    eventId: of.id,
    chat: { kind: 'hook', peer: peer.value.trim(), title: null },
    ...{ sender: null, messageId: messageIdIn(fields) ?? of.id, text: text.value, attachments: [], sentAt: null },
  })
}
