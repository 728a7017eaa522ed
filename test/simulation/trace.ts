import { formatInstant } from '../../src/domain/instant.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { Observer, World } from './world.ts'

/** Tells what happens, line by line, before the observer judges it. */
export function withTrace(observer: Observer, tell: (line: string) => void): Observer {
  const about = (run: RunRow): string =>
    `${run.id} (${run.trigger} ${run.orgId}/${run.agentId} ${run.sessionKey ?? run.scheduleId ?? 'alone'} ${run.lane})`
  const at = (world: World): string => formatInstant(world.now).slice(11)
  return {
    submitted: (world, submitted) => {
      tell(`submission ${submitted.number} ${submitted.accepted ? 'accepted' : 'refused'}`)
      observer.submitted(world, submitted)
    },
    created: (world, run) => {
      tell(`${at(world)} ${about(run)} created ${run.state}${run.slot === null ? '' : `, slot ${run.slot}`}`)
      observer.created(world, run)
    },
    fired: (schedule, firing) => {
      tell(`${schedule.id} decided ${firing.nominals.length} occurrences and ${firing.ranged} in a range`)
      observer.fired(schedule, firing)
    },
    released: (world, run) => {
      tell(`${at(world)} ${about(run)} released: ${run.why?.reason ?? 'for no reason'}`)
      observer.released(world, run)
    },
    moved: (world, run, from) => {
      tell(`${at(world)} ${about(run)} ${from.state} → ${run.state}`)
      observer.moved(world, run, from)
    },
    started: (world, run, node) => {
      tell(`${at(world)} ${about(run)} starts attempt ${run.attempt} on ${node.name}`)
      observer.started(world, run, node)
    },
    reported: (execution, isCurrent, decision) => {
      const { runId, attemptId, report } = execution
      tell(`${attemptId} of ${runId} reports ${report}: ${decision?.kind ?? 'the run has ended'}`)
      observer.reported(execution, isCurrent, decision)
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
