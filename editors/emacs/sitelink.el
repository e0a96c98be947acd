;;; sitelink.el --- Links of static sites with Eglot  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; Load this file from your init file, then run M-x eglot in a Markdown or HTML
;; buffer, or add eglot-ensure to the hook of the mode.

;;; Code:

(require 'eglot)

(defgroup sitelink nil
  "Links of static sites."
  :group 'eglot)

(defcustom sitelink-build nil
  "Whether to build the site after each save.
A build runs what the project names: use it in projects that you trust."
  :type 'boolean)

(defun sitelink-contact (&optional _interactive)
  "Return the command of the language server, with its options."
  (list "sitelink" "lsp" :initializationOptions (list :build (if sitelink-build t :json-false))))

(add-to-list 'eglot-server-programs '((markdown-mode gfm-mode html-mode mhtml-mode) . sitelink-contact))

(provide 'sitelink)
;;; sitelink.el ends here
