import { budgetId, orgId } from '../../../src/domain/ids.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import type { BudgetWithPeriods } from '../../../src/features/budgets/store.ts'
import { NOW } from '../../support/builders.ts'

/** A budget of the org for 100 tokens a day that skips. */
export const aBudget = (over: Partial<BudgetWithPeriods> = {}): BudgetWithPeriods => ({
  orgId: orgId('default'),
  id: budgetId('bud_1'),
  scope: { kind: 'org' },
  unit: 'tokens',
  amount: 100,
  period: 'day',
  timezone: UTC,
  onExceed: 'skip',
  defaultReserve: 0,
  pausedAt: null,
  alerts: null,
  createdAt: NOW,
  uses: [],
  ...over,
})
