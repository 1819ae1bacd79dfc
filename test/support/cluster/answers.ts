import http from 'node:http'

const answerDeadlineMs = 2_000

/** The status of a GET over a new connection; 0 without an answer. */
export const statusOf = (port: number, path: string): Promise<number> =>
  new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, agent: false, timeout: answerDeadlineMs }
    const request = http.get(options, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', () => resolve(0))
    request.on('timeout', () => request.destroy())
  })
