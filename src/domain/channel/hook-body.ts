import { isDeeper } from '../../core/json.ts'
import { MAX_DEPTH } from '../../core/json-shape.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import type { HeardMessage } from '../../core/channel/channel.ts'

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const PATH = /^body(?:\.[^.\s]+)+$/

/** What is wrong with a template of a hook, or null. */
export function templateFlaw(text: string): string | null {
  for (const found of text.matchAll(PLACEHOLDER)) {
    const name = (found[1] ?? '').trim()
    if (!PATH.test(name)) return `has a template that stands for nothing: {{${name}}}`
  }
  return null
}

type Fields = Readonly<Record<string, unknown>>

/** Fills a template from the body of a request. What the body does not have, or what is no plain value, is a flaw. */
function fill(field: string, template: string, body: Fields): Parsed<string> {
  const flaws: Flaw[] = []
  const text = template.replaceAll(PLACEHOLDER, (_, name: string) => {
    const path = name.trim().split('.').slice(1)
    const value = path.reduce<unknown>(stepInto, body)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
    if (field === 'text' && value !== undefined && value !== null) return JSON.stringify(value)
    flaws.push({ field: path.join('.'), value, message: `is missing; the hook's ${field} is made from it` })
    return ''
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(text)
}

const stepInto = (value: unknown, step: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Fields)[step] : undefined

/** Longer bodies are not laid out in lines: the blanks before each would be many times the body. */
const LONGEST_LAID_OUT = 10_000

function written(body: Fields): string {
  const text = JSON.stringify(body)
  return text.length > LONGEST_LAID_OUT ? text : JSON.stringify(body, null, 2)
}

const LONGEST_PEER = 300
const LONGEST_MESSAGE_ID = 512

/** The id that a sender gives its message, if it gives one that can be one. */
function messageIdIn({ message_id: id }: Fields): string | null {
  const isOne = typeof id === 'string' && id !== '' && id.length <= LONGEST_MESSAGE_ID && !id.includes('\u0000')
  return isOne ? id : null
}

/**
 * Makes a message of a request to a hook. Without a template of its own the message is the field `text` of the body, or,
 * where there is none, the body itself.
 */
export function readHookBody(
  body: unknown,
  of: { readonly id: string; readonly session: string; readonly text: string | null },
): Parsed<HeardMessage> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return flawed({ field: '', value: undefined, message: 'the body must be an object', allowed: 'a JSON object' })
  if (isDeeper(body, MAX_DEPTH))
    return flawed({
      field: '',
      value: undefined,
      message: 'the body is nested too deeply',
      allowed: `${MAX_DEPTH} levels`,
    })
  const fields = body as Fields
  const said = typeof fields['text'] === 'string' ? fields['text'] : written(fields)
  const text = of.text === null ? parsed(said) : fill('text', of.text, fields)
  const peer = fill('session', of.session, fields)
  const flaws = [...(text.ok ? [] : text.flaws), ...(peer.ok ? [] : peer.flaws)]
  if (peer.ok && (peer.value.trim() === '' || peer.value.length > LONGEST_PEER || peer.value.includes('\u0000')))
    flaws.push({ field: 'session', value: undefined, message: `is empty or longer than ${LONGEST_PEER} characters` })
  if (text.ok && text.value.trim() === '') flaws.push({ field: 'text', value: undefined, message: 'is empty' })
  if (flaws.length > 0 || !text.ok || !peer.ok) return flawed(flaws)
  return parsed({
    eventId: of.id,
    chat: { kind: 'hook', peer: peer.value.trim(), title: null },
    ...{ sender: null, messageId: messageIdIn(fields) ?? of.id, text: text.value, attachments: [], sentAt: null },
  })
}
