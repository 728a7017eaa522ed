import { expectHealthyWorlds } from './healthy-worlds.ts'

// Two files, so that both cores have work.
expectHealthyWorlds('even seeds', 0)
