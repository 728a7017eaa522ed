import { describe, expect, it } from 'vitest'
import { clientConfig, connectTimeoutMs } from '../../../src/platform/db/postgres/target.ts'

const HOST = 'postgres://me:secret@db.example:5433/work'

describe('a database URL', () => {
  it.each([
    ['require', 'verify-full'],
    ['prefer', 'verify-full'],
    ['verify-ca', 'verify-full'],
    ['verify-full', 'verify-full'],
    ['no-verify', 'no-verify'],
    ['disable', 'disable'],
  ])('with sslmode=%s is used as %s', (given, used) => {
    expect(clientConfig(`${HOST}?sslmode=${given}`).connectionString).toBe(`${HOST}?sslmode=${used}`)
  })

  it('may ask for the weaker meaning of libpq', () => {
    const url = `${HOST}?sslmode=require&uselibpqcompat=true`
    expect(clientConfig(url).connectionString).toBe(url)
  })

  it('keeps what it says about certificates', () => {
    const url = `${HOST}?sslmode=verify-full&sslrootcert=%2Fca.pem&sslcert=%2Fa.pem&sslkey=%2Fa.key`
    expect(clientConfig(url).connectionString).toBe(url)
  })

  it('may limit the time for connecting', () => {
    expect(connectTimeoutMs(`${HOST}?connect_timeout=3`)).toBe(3000)
    expect(connectTimeoutMs(`${HOST}?connect_timeout=soon`)).toBeUndefined()
    expect(connectTimeoutMs(HOST)).toBeUndefined()
  })

  it('may name a socket directory instead of a host', () => {
    expect(clientConfig('postgresql://me@/work?host=/run/pg').connectionString).toMatch(/\?host=\/run\/pg$/)
  })

  it.each(['db.example:5432', 'mysql://a@b/c', 'postgres://['])('is refused when it is %s', (url) => {
    expect(() => clientConfig(url)).toThrow('The database URL is invalid')
  })

  it('never shows its password in a refusal', () => {
    let said = ''
    try {
      clientConfig('postgres://me:secret@[bad/work')
    } catch (error) {
      said = `${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`
    }
    expect(said).toContain('is invalid')
    expect(said).not.toContain('secret')
  })
})
