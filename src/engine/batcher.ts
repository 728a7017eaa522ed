/**
 * Group commit: calls that arrive while a batch is being written wait and go together in the next one. One caller alone
 * waits for nobody; a hundred callers share one transaction. Each item gets its own answer.
 */
export interface Batcher<Item, Answer> {
  readonly add: (item: Item) => Promise<Answer>
  /** Waits until everything added so far has been answered. */
  readonly drain: () => Promise<void>
}

interface Entry<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** `write` answers in the order of its items. An error it throws is the answer to all of them. */
export function createBatcher<Item, Answer>(
  write: (items: readonly Item[]) => Promise<readonly Answer[]>,
  options: { readonly maxItems: number },
): Batcher<Item, Answer> {
  let waiting: Entry<Item, Answer>[] = []
  let writing: Promise<void> | null = null

  const writeBatch = async (): Promise<void> => {
    // Everything that was added in the same breath goes in the same batch.
    await Promise.resolve()
    while (waiting.length > 0) {
      const batch = waiting.slice(0, options.maxItems)
      waiting = waiting.slice(options.maxItems)
      await answer(batch, write)
    }
    writing = null
  }

  return {
    add: (item) =>
      new Promise<Answer>((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        writing ??= writeBatch()
      }),
    drain: async () => {
      while (writing !== null) await writing
    },
  }
}

async function answer<Item, Answer>(
  batch: readonly Entry<Item, Answer>[],
  write: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<void> {
  try {
    const answers = await write(batch.map((entry) => entry.item))
    if (answers.length !== batch.length) throw new Error(`${answers.length} answers for ${batch.length} items`)
    batch.forEach((entry, index) => {
      entry.resolve(answers[index] as Answer)
    })
  } catch (error) {
    for (const entry of batch) entry.reject(error)
  }
}
