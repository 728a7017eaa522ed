// A stub of a PinchTab browser instance: every action succeeds at once. Started with fork.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"success":true,"result":{"clicked":true}}')
  })
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
