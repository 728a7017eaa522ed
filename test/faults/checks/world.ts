import { expectNothingBroken } from '../look.ts'
import type { World } from '../shapes.ts'
import { checkAttempts, checkNodes } from './attempts.ts'
import { checkAudit } from './audit.ts'
import { checkApart, checkEndings } from './endings.ts'
import { checkLimits } from './limits.ts'
import { checkSchedules } from './schedules.ts'
import { checkSpent } from './spent.ts'
import { readTables, type Tables } from './tables.ts'

/** Holds a world that has come to rest against everything that must be true of it. */
export async function checkWorld(world: World): Promise<Tables> {
  const tables = await readTables(world)
  expectNothingBroken(world)
  checkEndings(world, tables)
  checkSchedules(world, tables)
  checkAttempts(world, tables)
  checkLimits(world, tables)
  checkApart(world, tables)
  checkNodes(world, tables)
  checkSpent(world, tables)
  await checkAudit(world, tables)
  return tables
}
