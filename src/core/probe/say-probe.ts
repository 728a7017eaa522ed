import { sayCondition } from '../../domain/probe/check-condition.ts'
import type { Probe } from '../../domain/probe/probe.ts'

/** Who is asked, in few words and without anything that might be a credential. */
export function subjectOf(probe: Probe): string {
  switch (probe.kind) {
    case 'http':
      return `${probe.method} ${withoutQuery(probe.url)}`
    case 'command':
      return probe.program
    case 'state': {
      const { scheduleId, session } = probe.of
      const named = [scheduleId, session].filter((one) => one !== null)
      return named.length === 0 ? 'stored state' : `the stored state of ${named.join(' and ')}`
    }
  }
}

/** A query may hold a key. */
function withoutQuery(text: string): string {
  const url = new URL(text)
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}

/** A probe as a person would say it. */
export function sayProbe(probe: Probe): string {
  const parts = [usuallyYes(probe)]
  if (probe.when !== null) parts.push(sayCondition(probe.when))
  if (probe.changed !== null) parts.push(`${probe.changed === true ? 'the answer' : probe.changed} has changed`)
  const when = parts.filter((part) => part !== '').join(', and ')
  const error = probe.onError === 'run' ? 'the agent runs anyway' : 'the attempt fails'
  return `Checks ${subjectOf(probe)} first and runs the agent only if ${when}. If the check fails, ${error}.`
}

/** What has to hold beside the conditions, where there are none that say it. */
function usuallyYes(probe: Probe): string {
  if (probe.kind === 'command') return 'it exits with 0'
  if (probe.kind === 'state' || probe.when !== null) return ''
  if (probe.method === 'HEAD') return probe.changed === null ? 'it answers with success' : ''
  return probe.changed === null ? 'it answers with something' : ''
}
