import type { Mistakes } from './mutant.ts'

type Function = (...args: readonly unknown[]) => unknown

const atWork = { mistakes: {} as Readonly<Record<string, ((right: Function) => Function) | undefined>> }

/** A module of the product in which every function asks first whether it is to be done wrong. For `vi.mock`. */
export async function mistakable(original: () => Promise<unknown>): Promise<Record<string, unknown>> {
  const right = (await original()) as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(right).map(([name, value]) => [
      name,
      typeof value === 'function' ? asking(name, value as Function) : value,
    ]),
  )
}

function asking(name: string, right: Function): Function {
  let known: { readonly of: (right: Function) => Function; readonly wrong: Function } | null = null
  return (...args) => {
    const of = atWork.mistakes[name]
    if (of === undefined) return right(...args)
    if (known?.of !== of) known = { of, wrong: of(right) }
    return known.wrong(...args)
  }
}

/** Lets something happen while these mistakes are made. */
export function withMistakes<T>(mistakes: Mistakes, happen: () => T): T {
  atWork.mistakes = mistakes as typeof atWork.mistakes
  try {
    return happen()
  } finally {
    atWork.mistakes = {}
  }
}
