import http from 'node:http'

export interface Request {
  readonly url: string
  readonly headers: Record<string, string>
}

/** Keeps one connection open. */
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

/** The chunks of the answer, after the last one. */
export const get = ({ url, headers }: Request): Promise<Buffer[]> =>
  new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(pieces)
        else reject(new Error(`${url} answered ${response.statusCode}: ${Buffer.concat(pieces).toString()}`))
      })
    })
    request.on('error', reject)
  })

export const answer = async (each: Request) =>
  JSON.parse(Buffer.concat(await get(each)).toString()) as Record<string, unknown> & { t: number[] }

export const closeConnections = (): void => agent.destroy()
