// Clients of GET /api/v1/events in a separate process: the first message contains their number and the URL, the next one ends
// them.
import http from 'node:http'

process.once('message', ({ url, key, count, query }) => {
  let heard = 0
  let connected = 0
  const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity })
  for (let i = 0; i < count; i += 1)
    http
      .get(`${url}/api/v1/events${query}`, { agent, headers: { authorization: `Bearer ${key}` } }, (answer) => {
        if (answer.statusCode !== 200) throw new Error(`GET /api/v1/events: ${answer.statusCode}`)
        connected += 1
        if (connected === count) process.send('ready')
        // Count events without parsing them, because only the server is measured.
        answer.on('data', (bytes) => {
          for (let at = bytes.indexOf('\nid:'); at >= 0; at = bytes.indexOf('\nid:', at + 1)) heard += 1
        })
      })
      .on('error', () => undefined)
  process.once('message', () => process.send({ heard }, () => process.exit(0)))
})
