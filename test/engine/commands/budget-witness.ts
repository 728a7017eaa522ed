import { periodBounds } from '../../../src/domain/budget/budget-period.ts'
import type { Budget } from '../../../src/domain/budget/budget.ts'
import type { BudgetId } from '../../../src/domain/ids.ts'
import type { Instant } from '../../../src/domain/instant.ts'

/** Somebody who starts, as far as budgets care. */
export interface Starter {
  readonly attempt: string
  readonly run: string
  readonly agent: string
  /** What it says it needs at most of any unit. */
  readonly stated: number | null
}

/**
 * Somebody who only watches what starts and what is reported, keeps books of its own, and complains when a run starts that
 * a budget has no room for, or when a period has used more than its amount and what those in flight when it last let
 * something start used beyond what was set aside for them. Shares no arithmetic with what it watches but the calendar.
 */
export interface Witness {
  readonly claimed: (starter: Starter, at: Instant) => void
  /** `ended`: the run has ended with it, and those after it may be judged by it. */
  readonly reported: (attempt: string, used: number, told: { readonly at: Instant; readonly ended: boolean }) => void
  /** The attempt will never report. `ended`: its run has ended with it, and what an earlier attempt used is what is known. */
  readonly lost: (attempt: string, ended?: boolean) => void
  readonly spent: (id: BudgetId, at: Instant) => number
  readonly left: (id: BudgetId, at: Instant) => number
  /** How often a budget was full, for who wants to know that something was tested at all. */
  readonly hits: () => number
}

interface Book {
  readonly budget: Budget
  readonly spent: Map<Instant, number>
  /** What the attempts in flight have set aside. */
  readonly aside: Map<string, number>
  period: Instant | null
  /** Those in flight when something last started in the period, and what they used beyond what they had set aside. */
  allowed: Set<string>
  beyond: number
}

export function createWitness(budgets: readonly Budget[]): Witness {
  const books = budgets.map(bookOf)
  const starters = new Map<string, Starter>()
  /** What the last report of each run said, and by agent the runs that have ended after one. */
  const said = new Map<string, number>()
  const ended = new Map<string, string[]>()
  const end = ({ agent, run }: Starter): void => {
    if (said.has(run)) ended.set(agent, [...(ended.get(agent) ?? []), run])
  }
  /** The newest twenty by when they were made; ids of runs sort so. */
  const usedBy = (agent: string): readonly number[] =>
    [...(ended.get(agent) ?? [])]
      .sort((a, b) => (a < b ? 1 : -1))
      .slice(0, 20)
      .map((run) => said.get(run) ?? 0)
  let full = 0
  const booksOf = (starter: Starter): readonly Book[] => books.filter(({ budget }) => isOf(budget, starter))
  const find = (id: BudgetId): Book => books.find(({ budget }) => budget.id === id) ?? fail(`no budget ${id}`)
  return {
    claimed: (starter, at) => {
      starters.set(starter.attempt, starter)
      for (const book of booksOf(starter)) {
        const needed = neededBy(starter, usedBy(starter.agent), book.budget)
        const left = leftOf(book, at)
        if (left <= 0 || left < needed)
          fail(`${starter.attempt} started although ${book.budget.id} has ${left} left and ${needed} are needed`)
        book.aside.set(starter.attempt, needed)
        book.allowed = new Set(book.aside.keys())
        book.beyond = 0
      }
    },
    reported: (attempt, amount, told) => {
      const { at } = told
      const starter = starters.get(attempt) ?? fail(`${attempt} never started`)
      for (const book of booksOf(starter)) report(book, { attempt, amount, at })
      full += booksOf(starter).filter((book) => leftOf(book, at) <= 0).length
      said.set(starter.run, amount)
      if (told.ended) end(starter)
    },
    lost: (attempt, hasEnded = false) => {
      const starter = starters.get(attempt)
      if (hasEnded && starter !== undefined) end(starter)
      for (const book of books) book.aside.delete(attempt)
    },
    spent: (id, at) => find(id).spent.get(startOf(find(id), at)) ?? 0,
    left: (id, at) => Math.max(0, leftOf(find(id), at)),
    hits: () => full,
  }
}

const bookOf = (budget: Budget): Book => ({
  ...{ budget, spent: new Map(), aside: new Map(), period: null, allowed: new Set(), beyond: 0 },
})

function fail(message: string): never {
  throw new Error(message)
}

const isOf = ({ scope }: Budget, { agent }: Starter): boolean =>
  scope.kind === 'org' || (scope.kind === 'agent' && scope.agentId === agent)

/** The period, which begins with those allowed that are in flight. */
function startOf(book: Book, at: Instant): Instant {
  const { start } = periodBounds(book.budget.period, book.budget.timezone, at)
  if (book.period !== start) {
    book.period = start
    book.allowed = new Set(book.aside.keys())
    book.beyond = 0
  }
  return start
}

function leftOf(book: Book, at: Instant): number {
  const spent = book.spent.get(startOf(book, at)) ?? 0
  return [...book.aside.values()].reduce((left, one) => left - one, book.budget.amount - spent)
}

/** The larger of what it states and the nineteenth of twenty, by the letter of the law. */
function neededBy({ stated }: Starter, last: readonly number[], { amount, defaultReserve }: Budget): number {
  const sorted = last.map((one) => Math.min(one, amount)).toSorted((a, b) => a - b)
  const usual = sorted[Math.ceil(sorted.length * 0.95) - 1]
  return stated === null ? (usual ?? Math.min(defaultReserve, amount)) : Math.max(stated, usual ?? 0)
}

function report(
  book: Book,
  { attempt, amount, at }: { readonly attempt: string; readonly amount: number; readonly at: Instant },
): void {
  const start = startOf(book, at)
  const spent = (book.spent.get(start) ?? 0) + amount
  book.spent.set(start, spent)
  if (book.allowed.has(attempt)) book.beyond += Math.max(0, amount - (book.aside.get(attempt) ?? 0))
  book.aside.delete(attempt)
  const most = book.budget.amount + book.beyond
  if (spent > most) fail(`${book.budget.id} has used ${spent}, and ${most} is the most that can be explained`)
}
