import { formatInstant, type Instant } from '../domain/instant.ts'
import { parseCronPlan } from './cron-plan.ts'
import { nextFire } from '../core/time/cron.ts'
import { formatInZone } from '../domain/time/wall-clock.ts'

const EXAMPLE = { expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }
const SHOWN = 3

/** What somebody sees who starts Escapement without saying what for. */
export function overview(now: Instant): string {
  return [
    'Escapement, the scheduling control plane for AI agents.',
    '',
    'One road for messages, schedules, heartbeats and tasks, with a reason on record for every run.',
    '',
    'Try; in a checkout npm start -- stands for escapement:',
    '  escapement serve                                          a server on this machine',
    '  escapement schedules create --name Look --every 30m       a schedule that wakes its agent',
    '  escapement runs watch                                     what happens, as it happens',
    '  escapement explain 09:00                                  why nothing happened then, or a run is where it is',
    '  escapement chat echo                                      a conversation',
    '  escapement doctor                                         whether everything is as it should be',
    '',
    'Without a server:',
    '  escapement simulate --every 5m --takes 7m --for 1h        what would happen, and why',
    `  escapement cron preview "${EXAMPLE.expr}" --tz ${EXAMPLE.tz}   when a cron expression fires`,
    '  escapement cron next                                      the same for programs, a line of JSON each',
    '',
    `"${EXAMPLE.expr}" in ${EXAMPLE.tz} fires next at:`,
    ...exampleFires(now),
    '',
    'escapement --help lists the commands, escapement help COMMAND says more of one; README.md says where to read on.',
    '',
  ].join('\n')
}

function exampleFires(now: Instant): readonly string[] {
  const plan = parseCronPlan(EXAMPLE)
  if (!plan.ok) return []
  const fires: string[] = []
  for (let at = nextFire(plan.value, now); at !== null && fires.length < SHOWN; at = nextFire(plan.value, at))
    fires.push(`  ${formatInZone(plan.value.zone, at)}   ${formatInstant(at)}`)
  return fires
}
