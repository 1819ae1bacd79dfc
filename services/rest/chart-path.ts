/** The path of an endpoint of charts; `:token` is a chart token. */
export const chartPath = (name: string): string => `/udf/:token/${name}`

export const chartTokenPath = '/udf/token'

const shape = /^\/udf\/([^/]+)\/([^/]+)$/

/** Whether a charting client asked for the path, also where there is no such endpoint. */
export const isOfChart = (path: string): boolean =>
  path.startsWith('/udf/') && trimmedPath(path) !== chartTokenPath

/** Removes extra slashes: a client adds `/config` to an address that may end in a slash. */
export const trimmedPath = (path: string): string =>
  path.startsWith('/udf/') ? path.replaceAll(/\/+/g, '/').replace(/\/$/, '') : path

/** The token in a path; `undefined` for paths without one. */
export const tokenOfPath = (path: string): string | undefined => shape.exec(trimmedPath(path))?.[1]

/** The path of a route, with `:token` in place of a token. */
export const withoutToken = (path: string): string =>
  path.replace(shape, (_, _token, name: string) => chartPath(name))
