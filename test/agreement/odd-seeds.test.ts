import { expectAgreement } from './agreeing-histories.ts'

expectAgreement('odd seeds', 1)
