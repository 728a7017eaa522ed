/**
 * Runs steps in their order and answers with their results in the same order. Those that compute run beside those that
 * wait for real clocks, in two lanes with one step of each at a time. Without others to run beside, or when `apart` is
 * asked for, all are in one lane. After an interruption or an error no further step begins, and what runs is waited for.
 *
 * `run(step, isBeside)` runs one and answers `{ interrupted, … }`.
 */
export async function runSteps(steps, { run, apart = false }) {
  const hasLanes = !apart && steps.some(({ computes }) => computes) && steps.some(({ computes }) => !computes)
  const isBeside = (step) => hasLanes && step.computes === true
  const results = new Map()
  let isOver = false
  const runLane = async (lane) => {
    for (const step of lane) {
      if (isOver) return
      try {
        const result = await run(step, isBeside(step))
        results.set(step, result)
        isOver ||= result.interrupted
      } catch (error) {
        isOver = true
        throw error
      }
    }
  }
  const lanes = [steps.filter((step) => !isBeside(step)), steps.filter(isBeside)]
  const ended = await Promise.allSettled(lanes.map(runLane))
  for (const { reason } of ended) if (reason !== undefined) throw reason
  return steps.filter((step) => results.has(step)).map((step) => ({ step, ...results.get(step) }))
}
