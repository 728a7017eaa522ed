import { Client } from 'pg'
import { clientConfig, type ConnectionTarget } from '../../src/platform/db/postgres/target.ts'

/** The same server, another database. */
export function withDatabase(target: ConnectionTarget, database: string): ConnectionTarget {
  if (typeof target !== 'string') return { ...target, database }
  const url = new URL(target)
  url.pathname = `/${database}`
  return url.toString()
}

/** One statement on a connection of its own. */
export async function runOn(
  target: ConnectionTarget,
  text: string,
  params: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client(clientConfig(target))
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, [...params])).rows
  } finally {
    await client.end()
  }
}
