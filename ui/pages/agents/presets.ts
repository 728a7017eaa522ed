import type { AgentInput, AgentView } from '../../../src/features/agents/schema.ts'
import type { PlainKey } from '../../texts/fill.ts'

/** A way to connect an agent: what its form begins with. */
export interface Preset {
  readonly id: string
  readonly name: string
  readonly about: PlainKey
  readonly executor: { readonly kind: string } & Readonly<Record<string, unknown>>
}

/** The ways that newcomers look for, then every other kind of executor. */
export const PRESETS: readonly Preset[] = [
  {
    ...{ id: 'openai', name: 'OpenAI', about: 'connect.openai' },
    executor: { kind: 'chat', base_url: 'https://api.openai.com/v1', model: 'gpt-4o-mini' },
  },
  {
    ...{ id: 'anthropic', name: 'Anthropic', about: 'connect.anthropic' },
    executor: { kind: 'chat', base_url: 'https://api.anthropic.com/v1' },
  },
  {
    ...{ id: 'ollama', name: 'Ollama', about: 'connect.ollama' },
    executor: { kind: 'chat', base_url: 'http://127.0.0.1:11434/v1', model: 'llama3.2' },
  },
  { ...{ id: 'compatible', name: 'OpenAI API', about: 'connect.compatible' }, executor: { kind: 'chat' } },
  { ...{ id: 'http', name: 'HTTP', about: 'connect.http' }, executor: { kind: 'http' } },
  { ...{ id: 'worker', name: 'Worker', about: 'connect.worker' }, executor: { kind: 'worker' } },
  { ...{ id: 'command', name: 'Command', about: 'connect.command' }, executor: { kind: 'command' } },
  { ...{ id: 'echo', name: 'Echo', about: 'connect.echo' }, executor: { kind: 'echo' } },
]

const ID_LENGTH = 60

/** An id for an agent, from its name; undefined where the name has no letters for one, or another agent has it. */
export function idFor(name: string, agents: readonly Pick<AgentView, 'id'>[]): string | undefined {
  const id = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, ID_LENGTH)
  return id === '' || agents.some((agent) => agent.id === id) ? undefined : id
}

/** A key that was typed in place of a reference to a secret, and the host it is for. */
export function typedKeyOf(executor: AgentInput['executor']): { readonly key: string; readonly host: string } | null {
  const { api_key: key, base_url: url } = executor as Readonly<Record<string, unknown>>
  if (typeof key !== 'string' || key === '' || key.includes('{{secret:')) return null
  return typeof url === 'string' && URL.canParse(url) ? { key, host: new URL(url).host } : null
}

/** The name of the secret with the key of an agent. */
export const secretNameFor = (id: string, taken: readonly string[]): string => {
  const base = `${
    id
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '') || 'AGENT'
  }_KEY`
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}_${number}`
    if (!taken.includes(name)) return name
  }
}

/** The address that the outbound guard refused and the operator may allow, from its message. */
export const refusedAddress = (message: string): string | null =>
  /add (\S+) to outbound\.allow_hosts/.exec(message)?.[1] ?? null
