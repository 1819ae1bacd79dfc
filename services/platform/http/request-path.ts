/** The path of a request target, without its query; an absolute target loses scheme and host. */
export function pathOf(target: string): string {
  const relative = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const path = /^[^?#]*/.exec(relative)?.[0] ?? ''
  return path === '' ? '/' : path
}
