import { readSmtpServer } from '../../../src/mail/smtpServer';

it.each([
  ['smtps://smtp.example.com', { host: 'smtp.example.com', port: 465, secure: true, requireTls: false }],
  ['smtp://smtp.example.com', { host: 'smtp.example.com', port: 587, secure: false, requireTls: true }],
  ['smtp://127.0.0.1:2525', { host: '127.0.0.1', port: 2525, secure: false, requireTls: false }],
  ['smtp://[::1]:25/', { host: '::1', port: 25, secure: false, requireTls: false }],
  [
    'smtps://a%40b.example:p%3A%2F@smtp.example.com',
    {
      ...{ host: 'smtp.example.com', port: 465, secure: true, requireTls: false },
      login: { user: 'a@b.example', pass: 'p:/' },
    },
  ],
])('%s is a mail server', (text, server) => expect(readSmtpServer(text)).toEqual(server));

it.each([
  'smtp.example.com',
  'https://smtp.example.com',
  'smtp://user:hunter2@smtp.example.com/?logger=true',
  'smtp://user:hunter2@smtp.example.com?tls.rejectUnauthorized=false',
  'smtps://user:hunter2@',
])('%s is refused without its password', (text) => {
  expect(() => readSmtpServer(text)).toThrow(/^(is not|must not have)/);
  expect(() => readSmtpServer(text)).not.toThrow(/hunter2/);
});
