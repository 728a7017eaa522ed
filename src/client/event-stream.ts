/** One message of a stream of server-sent events. */
export interface StreamMessage {
  /** The newest id, also when an earlier message brought it. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Takes a stream apart as the standard says (WHATWG HTML, server-sent events). */
export interface StreamReader {
  /** The messages that are complete with this portion of text. */
  readonly push: (text: string) => readonly StreamMessage[]
  /** The id to come back with: that of the last line that was finished, with a message in it or not. */
  readonly lastId: () => string
  /** How long the server wants to be left alone before a reconnection; null when it has not said. */
  readonly retryMs: () => number | null
}

/** Begins a stream; `lastId` is what an earlier part of it ended with. */
export function createStreamReader(lastId: string): StreamReader {
  let rest = ''
  // A return that ended a line may have been the first half of its end.
  let isHalf = false
  let id = lastId
  let finishedId = lastId
  let event = ''
  let data: string[] = []
  let retryMs: number | null = null
  const finish = (): readonly StreamMessage[] => {
    // Not before: a message that breaks off behind its id has not been read.
    finishedId = id
    const message = { id, event: event === '' ? 'message' : event, data: data.join('\n') }
    const isEmpty = event === '' && data.length === 0
    event = ''
    data = []
    return isEmpty ? [] : [message]
  }
  const take = (line: string): readonly StreamMessage[] => {
    if (line === '') return finish()
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    return []
  }
  return {
    push: (text) => {
      // A line may come in very many portions: what has come of it before is not looked at again.
      const fresh = isHalf && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') isHalf = text.endsWith('\r')
      const [first = '', ...others] = fresh.split(/\r\n|\n|\r/)
      const lines = [rest + first, ...others]
      rest = lines.pop() ?? ''
      return lines.flatMap(take)
    },
    lastId: () => finishedId,
    retryMs: () => retryMs,
  }
}
