import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whenOver } from '../../src/server/http/when-over.ts'

const answers: ServerResponse[] = []
const server = createServer((_, answer) => void answers.push(answer))
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise((resolve) => void server.close(resolve)))

/** Two requests, one right behind the other, on a connection of their own. */
async function pipelined(): Promise<{ readonly socket: Socket; readonly pair: readonly ServerResponse[] }> {
  const before = answers.length
  const socket = connect(port, '127.0.0.1')
  socket.resume()
  socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(2))
  await expect.poll(() => answers.length).toBe(before + 2)
  return { socket, pair: answers.slice(-2) }
}

/** How often each of the two is said to be over. */
function counted(pair: readonly ServerResponse[]): { readonly times: number[]; readonly callOff: () => void } {
  const times = [0, 0]
  const calls = pair.map((answer, index) => whenOver(answer, () => (times[index] = (times[index] ?? 0) + 1)))
  return {
    times,
    callOff: () => {
      for (const call of calls) call()
    },
  }
}

describe('a response', () => {
  it('is over when its connection is closed, also while it waits behind another', async () => {
    const { socket, pair } = await pipelined()
    const { times } = counted(pair)
    socket.destroy()
    await expect.poll(() => times).toEqual([1, 1])
    expect(counted(pair).times).toEqual([1, 1])
  })

  it('is over once when it was sent', async () => {
    const { socket, pair } = await pipelined()
    const { times } = counted(pair)
    for (const answer of pair) answer.end('done')
    await expect.poll(() => times).toEqual([1, 1])
    socket.destroy()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(times).toEqual([1, 1])
  })

  it('says nothing when that was called off', async () => {
    const { socket, pair } = await pipelined()
    const { times, callOff } = counted(pair)
    callOff()
    const gone = new Promise((resolve) => pair[0]?.once('close', resolve))
    socket.destroy()
    await gone
    expect(times).toEqual([0, 0])
  })
})
