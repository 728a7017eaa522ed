import type { SimulatedScheduleInput } from '../simulation/task.ts'
import { assumedFor } from './assumed.ts'
import type { ReadSimulation } from './input.ts'

/** The schedules of the request. They have no ids yet, so they get one to be told apart by. */
export const givenSchedules = (asked: ReadSimulation): readonly SimulatedScheduleInput[] =>
  asked.schedules.map((input, index) => {
    const id = `new_${index + 1}`
    return { id, input, ...assumedFor(asked, {}, [id, typeof input.name === 'string' ? input.name : null]) }
  })
