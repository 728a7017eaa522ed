import { area } from './area.ts'

/** Why occurrences were skipped and runs have not started or have ended, in the words of the server. */
export const reasonTexts = area({
  en: {
    'reason.misfire': 'Its moment, {nominal}, was missed by {late_seconds} s, and {policy} does not make up for it.',
    'reason.overlap': 'The previous run {previous_run} was still {previous_state}.',
    'reason.overlap_limit': '{pending} runs of the schedule were pending, and at most {max_parallel} may overlap.',
    'reason.failure': 'The previous run {failed_run} ended {failed_status}, and {policy} holds back until {until}.',
    'reason.concurrency': '{reserved} of {max_concurrency} slots of the schedule were taken.',
    'reason.queue_full':
      '{parked} runs were already waiting for a slot of the schedule, and at most {queue_depth} may.',
    'reason.budget': 'Budget {budget} has {remaining} {unit} left until {until}, and {reserve} are needed.',
  },
  zh: {
    'reason.misfire': '其时刻 {nominal} 已错过 {late_seconds} 秒，策略 {policy} 不补跑。',
    'reason.overlap': '上一次运行 {previous_run} 仍为 {previous_state}。',
    'reason.overlap_limit': '该计划有 {pending} 个待处理的运行，最多允许重叠 {max_parallel} 个。',
    'reason.failure': '上一次运行 {failed_run} 以 {failed_status} 结束，策略 {policy} 暂停至 {until}。',
    'reason.concurrency': '该计划的 {max_concurrency} 个槽位已占用 {reserved} 个。',
    'reason.queue_full': '已有 {parked} 个运行在等待该计划的槽位，最多允许 {queue_depth} 个。',
    'reason.budget': '预算 {budget} 在 {until} 前剩余 {remaining} {unit}，而需要 {reserve}。',
  },
})
