/** The environment of this process without variables of fxd, because roles refuse unknown variables of fxd. */
export const bareEnv = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FXD_')))
