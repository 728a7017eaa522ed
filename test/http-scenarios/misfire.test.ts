import { describe } from 'vitest'
import { misfireScenarios } from '../scenarios/both/misfire.ts'
import { scenario } from './world.ts'

describe.concurrent('over HTTP', () => misfireScenarios(scenario))
