import { expect, it } from 'vitest'
import { databaseAddresses } from '../../../src/platform/outbound/resolve.ts'

it.each([
  ['postgres://db.example/x', ['db.example:5432']],
  ['postgresql://me:pass@word@10.0.0.5:6000/x', ['10.0.0.5:6000']],
  ['postgres://me@[::1]:5433/x', ['::1:5433']],
  ['postgres://a.example:1,b.example/x', ['a.example:1', 'b.example:5432']],
  ['postgres:///x?host=db.example&port=6000', ['db.example:6000']],
  ['postgres:///x?host=/var/run/postgresql', []],
  ['postgres://%2Fvar%2Frun/x', []],
  ['nonsense', []],
])('%s is a database at %j', (address, places) => {
  expect(databaseAddresses(address).map(({ host, port }) => `${host}:${port}`)).toEqual(places)
})
