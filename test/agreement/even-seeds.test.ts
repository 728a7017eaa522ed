import { expectAgreement } from './agreeing-histories.ts'

// Two files, so that both cores have work.
expectAgreement('even seeds', 0)
