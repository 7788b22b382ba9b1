/** Starts Debian's headless Chromium through Playwright. It can reach only this host. */
import { type Browser, chromium } from 'playwright-core';

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.TINTYPE_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', `--host-resolver-rules=${LOOPBACK_ONLY}`],
  });
}

const LOOPBACK_ONLY = 'MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost';
