import { formatInstant } from '../../src/core/instant.ts'
import type { Observer, Run, World } from './world.ts'

/** Tells what happens, line by line, before the observer judges it. */
export function withTrace(observer: Observer, tell: (line: string) => void): Observer {
  const about = (run: Run): string =>
    `${run.id} (${run.trigger} ${run.orgId}/${run.agentId} ${run.sessionKey ?? run.scheduleId ?? 'alone'} ${run.lane})`
  const at = (world: World): string => formatInstant(world.now).slice(11)
  return {
    submitted: (submission, accepted) => {
      tell(`submission ${submission} ${accepted ? 'accepted' : 'refused'}`)
      observer.submitted(submission, accepted)
    },
    created: (world, run) => {
      tell(`${at(world)} ${about(run)} created ${run.state}${run.slot === null ? '' : `, slot ${run.slot}`}`)
      observer.created(world, run)
    },
    fired: (schedule, firing) => {
      tell(`${schedule.id} decided ${firing.nominals.length} occurrences and ${firing.ranged} in a range`)
      observer.fired(schedule, firing)
    },
    released: (world, run, decision) => {
      tell(`${at(world)} ${about(run)} released: ${decision.kind} ${decision.why.reason}`)
      observer.released(world, run, decision)
    },
    moved: (world, run, from) => {
      tell(`${at(world)} ${about(run)} ${from} → ${run.state}`)
      observer.moved(world, run, from)
    },
    started: (world, run) => {
      tell(`${at(world)} ${about(run)} starts attempt ${run.attempt} on ${run.node?.name ?? 'nowhere'}`)
      observer.started(world, run)
    },
    cleared: (session) => {
      tell(`${session.orgId}/${session.key} cleared`)
      observer.cleared(session)
    },
    forgotten: observer.forgotten,
    settledDown: observer.settledDown,
    finished: (world) => {
      observer.finished(world)
      tell(`came to rest at ${at(world)} with ${world.runs.size} runs`)
    },
  }
}
