import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** One post as it came: the fields of its lines. */
export interface Post {
  readonly path: string
  readonly authorization: string
  readonly body: string
  readonly lines: readonly (readonly string[])[]
}

/** What is answered to a post: lines after the head, or a refusal. */
export type Response = readonly string[] | { readonly status: number; readonly body: string }

/** The small part of a collector that these tests need: it keeps all posts, and answers as a test says. */
export class Responder {
  readonly posts: Post[] = []
  readonly #server: Server
  readonly #respond: (post: Post, position: number) => Response

  private constructor(respond: (post: Post, position: number) => Response) {
    this.#respond = respond
    this.#server = createServer((request, response) => {
      void postOf(request).then((post) => {
        const { status, body } = this.#answer(post)
        response.statusCode = status
        response.setHeader('content-type', 'text/plain; charset=utf-8').end(body)
      })
    })
  }

  static async listen(respond: (post: Post, position: number) => Response): Promise<Responder> {
    const responder = new Responder(respond)
    await new Promise<void>((resolve) => responder.#server.listen(0, '127.0.0.1', resolve))
    return responder
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** All lines of this name, in their order. */
  lines(name: string): (readonly string[])[] {
    return this.posts.flatMap((post) => post.lines.filter(([first]) => first === name))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #answer(post: Post): { status: number; body: string } {
    const response = this.#respond(post, this.posts.push(post) - 1)
    if ('status' in response) return response
    const sequence = post.lines[0]?.[3]
    return { status: 200, body: [`fxd\t1\t7\t${sequence}`, ...response].map((line) => `${line}\n`).join('') }
  }
}

async function postOf(request: IncomingMessage): Promise<Post> {
  const body = await text(request)
  const lines = body.split('\n').slice(0, -1)
  return {
    path: request.url ?? '',
    authorization: request.headers.authorization ?? '',
    body,
    lines: lines.map((line) => line.split('\t')),
  }
}
